"""
The figure of docs/index.md, drawn from the data of the approaches: who brings program, libmpi, libfabric and libcxi.

page_tables.py (`make modules`) writes it to pictures/approaches.svg, and its text for those who do not see it into the
page. Portrait and of few words, so that it reads on a phone; it has a ground of its own and knows light and dark.
"""
from html import escape

from osu_container.core.data.approaches import APPROACHES

#: What a process is made of, from the program down to the library that drives Slingshot
LAYERS = ('program', 'libmpi', 'libfabric', 'libcxi')
#: Units of the picture; a phone shows one of them as about 0.9 pixels
WIDTH, NAME, CELL, ROW, BAR, HEAD, FOOT = 416, 106, 60, 62, 30, 44, 40
#: From the middle of a row's bars to the line of words below them
BELOW = 25

STYLE = """
  svg { --ground: #ffffff; --text: #1f2328; --quiet: #57606a; --line: #d0d7de;
        --image: #0f766e; --host: #fde68a; --on-image: #ffffff; --on-host: #3b2a00; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #1e2129; --text: #e6edf3; --quiet: #a3adb8; --line: #444c56;
          --image: #2dd4bf; --host: #92400e; --on-image: #06231f; --on-host: #fff4dc; } }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--text);
         dominant-baseline: central; }
  .name { font-weight: 600; } .middle { text-anchor: middle; } .quiet { fill: var(--quiet); font-size: 12px; }
  .ground { fill: var(--ground); stroke: var(--line); } .line { stroke: var(--line); }
  rect.image { fill: var(--image); } text.image { fill: var(--on-image); }
  rect.host { fill: var(--host); } text.host { fill: var(--on-host); }
"""


def origins(approach):
    """
    Return {layer: 'image', 'host' or None where it is not used} of an approach (dict) on a site that has all layers.

    libcxi is where the program is, unless the host's is injected; libfabric loads it only for the site's own network.
    """
    program = 'image' if approach['container'] else 'host'
    libcxi = 'host' if 'libcxi' in approach['inject'] + approach['inject_if_known'] else program
    return {'program': program, **approach['comes_from'], 'libcxi': libcxi if network(approach) == "site's" else None}


def network(approach):
    """Return the network (str) that an approach (dict) uses: one that its data name, or the site's."""
    names = {entry['value'] for entry in approach['variables']
             if entry['name'] == 'FI_PROVIDER' and not entry.get('setting')}
    fixed = sorted(name for name in names if '{' not in name)
    return fixed[0].upper() if fixed else "site's"


def how(approach):
    """Return what the bars of an approach (dict) do not tell (str): its MPI, and who puts the host's libraries in."""
    if not approach['container']:
        return 'no container'
    # An approach that needs a libfabric to put in or to use takes MPICH alone of those with its ABI
    family = 'MPICH' if approach['requires'] and approach['mpi'] == 'MPICH ABI' else approach['mpi']
    if 'entrypoint' in approach:
        return f"{family}; the image's entrypoint takes the host's"
    return f"{family}; the module puts the host's in" if approach['inject'] else f'{family}; nothing of the host'


def bars(layers):
    """Return [(first, number, origin)] of layers (list) with neighbours of the same origin in one bar."""
    found = []
    for number, origin in enumerate(layers):
        if found and found[-1][2] == origin:
            found[-1][1] += 1
        else:
            found.append([number, 1, origin])
    return found


def svg():
    """Return the picture (str, SVG)."""
    height = HEAD + ROW * len(APPROACHES) + FOOT
    def middle(number):
        return NAME + CELL * number + CELL / 2

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
             f'<title>{escape(words())}</title>', f'<style>{STYLE}</style>',
             f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>']
    for number, layer in enumerate((*LAYERS, 'network')):
        lines.append(f'<text class="quiet middle" x="{middle(number):g}" y="{HEAD / 2:g}">{layer}</text>')
    for row, (name, approach) in enumerate(APPROACHES.items()):
        top = HEAD + ROW * row
        y = top + ROW / 2 - BELOW / 2 + 2
        lines += [f'<line class="line" x1="10" x2="{WIDTH - 10}" y1="{top:g}" y2="{top:g}"/>',
                  f'<text class="name" x="12" y="{y:g}">{escape(name)}</text>']
        layers = list(origins(approach).values())
        for first, number, origin in bars(layers):
            if origin:
                lines.append(f'<rect class="{origin}" x="{NAME + CELL * first + 1:g}" y="{y - BAR / 2:g}" '
                             f'width="{CELL * number - 2:g}" height="{BAR}" rx="5"/>')
        for number, origin in enumerate(layers):
            lines.append(f'<text class="middle {origin or "quiet"}" x="{middle(number):g}" y="{y:g}">'
                         f'{origin or "–"}</text>')
        lines.append(f'<text class="middle" x="{middle(len(LAYERS)):g}" y="{y:g}">{escape(network(approach))}</text>')
        lines.append(f'<text class="quiet" x="{NAME + 1}" y="{y + BELOW:g}">{escape(how(approach))}</text>')
    y = height - FOOT / 2
    for x, origin, text in ((12, 'image', 'comes with the image'), (208, 'host', 'comes from the host')):
        lines += [f'<rect class="{origin}" x="{x}" y="{y - 7:g}" width="22" height="14" rx="3"/>',
                  f'<text class="quiet" x="{x + 30}" y="{y:g}">{text}</text>']
    return '\n'.join([*lines, '</svg>', ''])


def words():
    """Return the picture in words (str), for those who do not see it."""
    parts = []
    for name, approach in APPROACHES.items():
        found = origins(approach)
        said = [f'{", ".join(layer for layer in LAYERS if found[layer] == origin)} of the {origin}'
                for origin in ('image', 'host') if origin in found.values()]
        said.append(how(approach))
        said.append('over TCP' if network(approach) == 'TCP' else "over the site's network")
        parts.append(f'{name}: {"; ".join(said)}')
    return f'Who brings what. {". ".join(parts)}.'


def markdown():
    """Return the line (str) of docs/index.md that shows the picture."""
    return f'![{words()}](pictures/approaches.svg)\n'
