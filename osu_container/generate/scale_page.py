"""
What docs/scale.md says of starts on many nodes: its figures, its advice and its picture, all from the model.

page_tables.py (`make modules`) puts the texts between the markers of the page and writes pictures/starts.svg. Every
figure in a sentence is computed here; a sentence that would no longer be true with other inputs is chosen by them.
"""
from __future__ import annotations

import math
from html import escape

from osu_container.figures import start_model as model
from osu_container.generate import picture
from osu_container.generate.figures_page import table
from osu_container.places import PROJECT

NODES = (1, 8, 64, 512, model.MOST_NODES)
RANKS = (8, model.MOST_RANKS)
#: Seconds of reading from which on a user is told to do something
PATIENCE = 1
TITLES = {'native': 'native', 'one stripe': 'image on one stripe', 'striped': 'image striped', 'staged': 'image staged'}
PARTS = {'node': 'what a node does alone', 'srun': 'srun reaches the nodes', 'requests': 'metadata requests',
         'reading': 'reading', 'MPI': 'MPI finds its ranks'}


# ---- words

def number(value, digits=2):
    """Return a value (float) with as many digits as count (str): 0.43, 4.3, 43, 430, 4,300."""
    return f'{round(value, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0:,.12g}'


def between(pair, unit=''):
    """Return a pair of ends as text, one value where both read the same; None is never."""
    one, other = ('never' if each is None else number(each) for each in pair)
    text = one if one == other else f'{one} to {other}'
    return text if text == 'never' else f'{text} {unit}'.strip()


def exact(value):
    """Return a count (int) as text, None as 'no number'."""
    return 'no number' if value is None else f'{value:,}'


def size(bytes_):
    """Return a size in bytes as text."""
    for unit, scale in (('GB', 1e9), ('MB', 1e6), ('kB', 1e3)):
        if bytes_ >= scale:
            return f'{number(bytes_ / scale, 3)} {unit}'
    return f'{bytes_:.0f} B'


def lines(*sentences):
    """Return sentences (str), each on its line."""
    return '\n'.join(sentences) + '\n'


# ---- the texts

def advice():
    """Return what to do, and from how many nodes on (str, Markdown)."""
    images = model.images()
    small, large = images['small'], images['large']
    most, system = f'{model.MOST_NODES:,}', 'LUMI-P'
    found = [lines('* **Share the container.** A node mounts the image once for all of its ranks; commands of a module '
                   'do that by themselves ([below](#share-the-container)).')]
    _, waits = model.nodes_that_wait(large, PATIENCE)
    _, small_waits = model.nodes_that_wait(small, PATIENCE)
    one, all_ = ([model.parts(way, model.MOST_NODES, 1, large, end)['reading'] for end in ('fast', 'slow')]
                 for way in ('one stripe', 'striped'))
    found.append(lines(
        f'* **Stripe the image**, once, before jobs of {exact(waits)} nodes or more (image of {size(large.size)}), or '
        f'of {exact(small_waits)} (image of {size(small.size)}): from there on it may take more than {PATIENCE} s to '
        'read it from one target.',
        f"  On {most} nodes, the image of {size(large.size)} takes {between(one, 's')} from one target and "
        f"{between(all_, 's')} from all of {system}."))
    itself = model.staging(model.MOST_NODES, large)
    pays = model.starts_that_pay(model.MOST_NODES, large, 'striped')
    gains = model.nodes_that_gain(large, 'one stripe')
    text = ["* **Stage the image** where it cannot be striped, or if a job starts again and again: on "
            f"{most} nodes that takes {between(itself, 's')} by itself, before the first start (image of "
            f"{size(large.size)})."]
    if gains[1]:
        text.append(f'  If a start reads much of an image on one stripe, staging gains with the first start from '
                    f'{exact(gains[1])} nodes on'
                    + (f'; if it reads little, from {exact(gains[0])} on.' if gains[0] else
                       '; if it reads little, it never does.'))
    if pays[1]:
        text.append(f'  Of a striped image, staging pays from {exact(pays[1])} starts of one job of {most} nodes on'
                    + (f' (from {exact(pays[0])} if a start reads little).' if pays[0] else '.'))
    else:
        text.append('  Of a striped image it never pays.')
    found.append(lines(*text))
    return ''.join(found)


def expected(image, ranks, staging=True):
    """Return the table of starts of an Image by nodes and ranks (tuple of int)."""
    rows = [['nodes', 'ranks a node', *TITLES.values(), *(['staging itself'] if staging else [])]]
    for nodes in NODES:
        for each in ranks:
            rows.append([f'{nodes:,}', str(each), *(between(model.start(way, nodes, each, image)) for way in TITLES),
                         *([between(model.staging(nodes, image))] if staging else [])])
    return table(rows)


def tables():
    """Return the tables of starts (str, Markdown)."""
    images = model.images()
    return (f"An image of {size(images['large'].size)}, LUMI-P; seconds:\n\n{expected(images['large'], RANKS)}\n"
            f"An image of {size(images['small'].size)}, LUMI-P; seconds:\n\n{expected(images['small'], RANKS[:1])}\n"
            f"What the start on {model.MOST_NODES:,} nodes with {RANKS[0]} ranks each is made of, image of "
            f"{size(images['large'].size)}; seconds:\n\n{made_of(images['large'])}")


def made_of(image):
    """Return the table of the parts of the largest start (str, Markdown)."""
    ends = {way: [model.parts(way, model.MOST_NODES, RANKS[0], image, end) for end in ('fast', 'slow')]
            for way in TITLES}
    return table([['', *TITLES.values()],
                  *([title, *(between([end[part] for end in ends[way]]) for way in TITLES)]
                    for part, title in PARTS.items())])


def checks():
    """Return what the private Slurm of many nodes and published starts say of the model (str, Markdown)."""
    path, data = model.counts()
    nodes = data['srun'][-1]['nodes']
    reads = data['reads']
    alike = all(each['containers'] == each['nodes'] for each in reads)
    mean = {(each['nodes'], each['ranks']): sum(each['read']) / len(each['read']) for each in reads}
    per_rank = max(each['ranks'] for each in reads if each['nodes'] == 1)
    text = [f"`make figures-nodes` starts {nodes} nodes on one machine of {data['machine']['cores']} cores "
            f"(`{path.relative_to(PROJECT)}`).", '',
            f"* Containers: {'as many as nodes' if alike else 'not as many as nodes'}, whether a node had 1 rank or "
            f"{per_rank} ({len(reads)} sizes of job).",
            f"  Each read {size(min(mean.values()))} to {size(max(mean.values()))} of the image; {per_rank} ranks in "
            f"one container read {number(mean[1, per_rank] / mean[1, 1])} times what one rank reads, {nodes} "
            f"containers {number(sum(reads[-1]['read']) / reads[0]['read'][0])} times.",
            f"  {'So what a job reads grows with its nodes, as in the model.' if alike else 'This is not the model.'}"]
    for way in ('native', 'container'):
        points = [(each['nodes'] * each['ranks'], each['total']['median']) for each in data['starts']
                  if each['way'] == way and each['ranks'] == 1]
        rise, offset = model.slope(points)
        off = max(abs(y / (rise * x + offset) - 1) for x, y in points if x >= 8)
        text.append(f"* Time, {way}, a rank a node: {number(rise)} s for each node; from 8 nodes on at most "
                    f"{number(100 * off)} % off a straight line.")
    alike = [(each['nodes'], each['total']['median']) for each in data['starts']
             if each['way'] == 'container' and each['nodes'] * each['ranks'] == nodes]
    text.append(f"* Time of {nodes} ranks by containers: " + ', '.join(
        f'{number(taken)} s in {count}' for count, taken in alike) + '.')
    total, own = (model.slope([(each['nodes'], each[key]['median']) for each in data['srun']])[0]
                  for key in ('total', 'own'))
    text += [f"* `srun true`: {number(1000 * total)} ms for each node, of which srun itself works {number(1000 * own)} "
             'ms; the rest is the work of the nodes, which here share the cores.', '',
             'It cannot show what many machines do at once: every node has the same cores, page cache and network.',
             'So the straight lines are those of two cores, and nothing here tests the rates of file systems and '
             'networks, or the tree by which Slurm reaches nodes (with TreeWidth '
             f"{model.inputs()['tree'].fast:.0f} it has {model.levels(nodes, model.inputs()['tree'].fast)} levels for "
             f'{nodes} nodes).', '',
             'Starts that others have published:', '']
    for what, count, ranks, bytes_, most, source in model.PUBLISHED_STARTS:
        image = model.Image('', bytes_, bytes_, bytes_, '', '')
        both = [one + other for one, other in zip(model.staging(count, image),
                                                  model.start('staged', count, ranks, image))]
        text.append(f'* {what}: at most {most} s ({source}).')
        text.append(f"  The model, with LUMI's rates: {between(both, 's')} for staging and start; "
                    + ('it does not contradict, and it has neither the unpacking of the archives nor the import of '
                       'SciPy.' if both[0] <= most else 'it contradicts.'))
    text += ['', 'We found no published start of an Apptainer or Singularity container on thousands of nodes of '
                 'Lustre with its seconds.']
    return lines(*text)


def value(low, high, unit):
    """Return the ends of an input as text."""
    if unit in ('B', 'B/s'):
        texts = [size(each) + ('/s' if unit == 'B/s' else '') for each in (low, high)]
    else:
        texts = [number(each, 2 if unit == 's' else 9) for each in (low, high)]
        if unit == 's' and max(low, high) < 0.1:
            texts, unit = [number(1000 * each) for each in (low, high)], 'ms'
    text = texts[0] if texts[0] == texts[-1] else ' to '.join(texts)
    return text if unit in ('B', 'B/s') else f"{text}{'' if unit.startswith('/') else ' '}{unit}".strip()


def inputs():
    """Return the table of all inputs (str, Markdown)."""
    rows = [['input', 'fast to slow', 'evidence', 'source']]
    for each in model.inputs().values():
        rows.append([each.title, value(each.fast, each.slow, each.unit), each.evidence, each.source])
    for each in model.images().values():
        rows.append([f'{each.title}: {size(each.size)}, of which a node reads', value(each.fast, each.slow, 'B'),
                     each.evidence, each.source])
    for name, each in model.FILE_SYSTEMS.items():
        rows.append([f'{name}, reading', f'{size(each.total)}/s, {each.targets} targets, metadata servers: '
                     f'{each.servers}', 'published', each.source])
        rows.append([f'{name}, reading from one target', f'{size(each.total / each.targets)}/s', 'derived',
                     'the whole divided by the targets'])
    flash = [model.start('one stripe', model.MOST_NODES, RANKS[0], model.images()['large'], name)
             for name in model.FILE_SYSTEMS]
    names = list(model.FILE_SYSTEMS)
    return (f"{table(rows)}\nGroup start: `{model.figures_page.newest()[0].relative_to(PROJECT)}`.\n"
            f"Many nodes: `{model.counts()[0].relative_to(PROJECT)}`.\nThe tables above are of {names[0]}.\n"
            f"On {names[1]} the start of {model.MOST_NODES:,} nodes with {RANKS[0]} ranks each takes "
            f"{between(flash[1], 's')} from one stripe, where {names[0]} takes {between(flash[0], 's')}.\n")


# ---- the picture

#: Units of the picture; a phone shows one of them as about 0.9 pixels
WIDTH, LEFT, PANEL_WIDTH, BETWEEN, PANEL, HEAD, GAP, FOOT = 416, 46, 168, 20, 140, 34, 26, 66
SECONDS = (0.1, 1000)
STYLE = picture.STYLE + """
  svg { --native: #1a1a1a; --one: #b84d00; --striped: #0068a8; --staged: #007a5a; --other: #8c959f; }
  @media (prefers-color-scheme: dark) {
    svg { --native: #f4f4f4; --one: #ff9557; --striped: #5cb8f0; --staged: #35cfa2; --other: #79828c; } }
  path { fill: none; } path.other { stroke: var(--other); stroke-width: 0.8; stroke-dasharray: 2 2; }
  path.middle { stroke-width: 2.2; } path.band { opacity: 0.22; } .end { text-anchor: end; }
""" + ''.join(f'  path.middle.{name}, path.extra.{name} {{ stroke: var(--{name}); }} path.band.{name} '
              f'{{ fill: var(--{name}); }} text.{name} {{ fill: var(--{name}); }}\n'
              for name in ('native', 'one', 'striped', 'staged')) + '  path.extra { stroke-dasharray: 5 3; }\n'
NAMES = {'native': 'native', 'one stripe': 'one', 'striped': 'striped', 'staged': 'staged'}


def middle(pair):
    """Return the geometric mean of the ends of a range."""
    return math.sqrt(pair[0] * pair[1])


def curves():
    """Return (nodes, {way: [(fast, slow), ...]}, [(fast, slow) of staging and start]) of the picture."""
    image, ranks = model.images()['large'], RANKS[0]
    nodes = sorted({round(model.MOST_NODES ** (step / 24)) for step in range(25)})
    found = {way: [model.start(way, each, ranks, image) for each in nodes] for way in TITLES}
    first = [tuple(one + other for one, other in zip(model.staging(each, image), start))
             for each, start in zip(nodes, found['staged'])]
    return nodes, found, first


def svg():
    """Return the picture (str, SVG): a panel for each way, the other ways thin behind it."""
    nodes, found, first = curves()
    low, high = map(math.log10, SECONDS)
    height = 2 * (HEAD + PANEL + GAP) + FOOT

    def place(number_):
        return LEFT + (number_ % 2) * (PANEL_WIDTH + BETWEEN), HEAD + (number_ // 2) * (HEAD + PANEL + GAP)

    def path(points, x0, y0):
        return 'M' + ' L'.join(
            f'{x0 + PANEL_WIDTH * math.log(count) / math.log(nodes[-1]):.1f} '
            f'{y0 + PANEL * (high - math.log10(min(max(taken, SECONDS[0]), SECONDS[1]))) / (high - low):.1f}'
            for count, taken in points)

    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f'<title>{escape(words())}</title>', f'<style>{STYLE}</style>',
            f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>']
    for order, (way, title) in enumerate(TITLES.items()):
        x0, y0 = place(order)
        name = NAMES[way]
        text.append(f'<text class="name {name}" x="{x0}" y="{y0 - 14}">{title}</text>')
        for exponent in range(int(low), int(high) + 1):
            y = y0 + PANEL * (high - exponent) / (high - low)
            text.append(f'<line class="line" x1="{x0}" x2="{x0 + PANEL_WIDTH}" y1="{y:g}" y2="{y:g}"/>')
            if x0 == LEFT:
                text.append(f'<text class="quiet end" x="{x0 - 5}" y="{y:g}">{10 ** exponent:,g}</text>')
        for count in (1, 10, 100, 1000):
            x = x0 + PANEL_WIDTH * math.log(count) / math.log(nodes[-1])
            text.append(f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{y0}" y2="{y0 + PANEL}"/>')
            text.append(f'<text class="quiet middle" x="{x:.1f}" y="{y0 + PANEL + 12}">{count:,}</text>')
        for other, points in found.items():
            if other != way:
                text.append(f'<path class="other" d="{path([*zip(nodes, map(middle, points))], x0, y0)}"/>')
        around = [(count, each[0]) for count, each in zip(nodes, found[way])]
        around += [(count, each[1]) for count, each in zip(nodes[::-1], found[way][::-1])]
        text.append(f'<path class="band {name}" d="{path(around, x0, y0)} Z"/>')
        text.append(f'<path class="middle {name}" d="{path([*zip(nodes, map(middle, found[way]))], x0, y0)}"/>')
        if way == 'staged':
            text.append(f'<path class="extra {name}" d="{path([*zip(nodes, map(middle, first))], x0, y0)}"/>')
    y = height - FOOT + 10
    for row, (left, right) in enumerate((
            ('across: nodes', 'up: seconds of a start'), ('band: fast to slow', 'line: middle of the band'),
            ('grey dashes: the other three', 'green dashes: with staging'))):
        text += [f'<text class="quiet" x="12" y="{y + 18 * row}">{left}</text>',
                 f'<text class="quiet" x="{LEFT + PANEL_WIDTH + BETWEEN}" y="{y + 18 * row}">{right}</text>']
    return '\n'.join([*text, '</svg>', ''])


def words():
    """Return the picture in words (str), for those who do not see it."""
    image, ranks = model.images()['large'], RANKS[0]
    ends = [f"{TITLES[way]} {between(model.start(way, 1, ranks, image), 's')} on one node and "
            f"{between(model.start(way, model.MOST_NODES, ranks, image), 's')} on {model.MOST_NODES:,}"
            for way in TITLES]
    return (f"Seconds of a start by number of nodes, {ranks} ranks each, image of {size(image.size)} on LUMI-P, by the "
            f"model: {'; '.join(ends)}.")


def markdown():
    """Return the line (str) of docs/scale.md that shows the picture."""
    return f'![{words()}](pictures/starts.svg)\n'


#: marker -> function that makes the text; page_tables.py writes them
BLOCKS = {'scale-advice': advice, 'scale-picture': markdown, 'scale-tables': tables, 'scale-checks': checks,
          'scale-inputs': inputs}
