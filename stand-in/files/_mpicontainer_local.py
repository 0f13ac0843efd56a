"""Facts of LUMI that a stand-in tree cannot have. Site and tree are chosen by --try-amend=site= and --sysroot=."""


def _fact(value, why):
    """Return the dict of one fact about stand-in trees."""
    return {'value': value, 'why': why, 'source': 'stand-in/README.md', 'date': '2026-11-21', 'evidence': 'measured'}


OVERRIDES = {
    'provider': _fact('tcp', 'there is no Slingshot card here, and the libfabric of the tree has no cxi provider'),
    'pmi': _fact({'image': 'pmi2', 'host': 'pmi2'},
                 'the MPICH that stands in for Cray MPICH speaks PMI-2 and not Cray PMI'),
    'images': _fact(
        dict.fromkeys(['pure', 'bind', 'hybrid', 'opensource'], 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'),
        'the images for LUMI hold ROCm and libcxi and are built elsewhere; `make image` builds this one'),
}
