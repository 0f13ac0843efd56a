"""
Settings and site -> text of a job script for two nodes. RUNSCRIPTS names its folder; LUMI's container modules have
samples there.
"""
from osu_container.core.terminal import one_line

NAME, FOLDER = 'two-nodes', 'runscripts'


def job_script(settings, jobs, module, example, binding=None):
    """
    Return the text of the script.

    :param settings: Settings; jobs: dict, how a job is asked for on the site; module: str, its full name
    :param example: str, a command of the module; binding: str or None, command that puts ranks next to their GPU
    """
    asked = ['--partition=' + jobs['partition']] if jobs['partition'] else []
    asked += ['--nodes=2', '--ntasks-per-node=1', '--time=00:10:00'] + jobs['options']
    account = ' --account=YOUR_PROJECT' if jobs['account'] else ''
    words = ['srun', '-N2', '-n2'] + jobs['step'] + ([binding] if binding and settings.sets.gpu_map else []) + [example]
    return ('#!/bin/bash\n# Two ranks on two nodes: module load %s, then sbatch%s $RUNSCRIPTS/%s, which goes on with '
            'your environment.\n%sset -eu\n: "${CONTAINERROOT:?load %s first}"\n%s\n' % (
                module, account, NAME, ''.join('#SBATCH %s\n' % one_line(one) for one in asked), module,
                ' '.join(words)))
