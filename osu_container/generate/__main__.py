"""
Write all files that follow from data, in the order in which they need each other: python -m osu_container.generate

    python -m osu_container.generate --check               write nothing, exit code 1 if one is stale
    python -m osu_container.generate module_files          only this; has a --help of its own
"""
import subprocess
import sys

#: Modules of this package, in this order: rendered modules hold the sums of easyconfigs
STEPS = ('easyconfigs', 'module_files', 'page_tables', 'results_pages', 'entrypoint_defaults', 'recipe_files')


def main():
    """Run the steps that were named, or all; return the exit code of the first that fails, else 0."""
    options = [word for word in sys.argv[1:] if word.startswith('-')]
    names = [word for word in sys.argv[1:] if not word.startswith('-')] or STEPS
    wrong = [name for name in names if name not in STEPS]
    if wrong or {'-h', '--help'} & set(options):
        print(__doc__.strip() + f"\n\nNames: {', '.join(STEPS)}", file=sys.stderr if wrong else sys.stdout)
        return 2 if wrong else 0
    for name in names:
        code = subprocess.run([sys.executable, '-m', f'osu_container.generate.{name}', *options]).returncode
        if code:
            return code
    return 0


if __name__ == '__main__':
    sys.exit(main())
