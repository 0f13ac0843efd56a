"""What configure of the OSU Micro-Benchmarks has to be told. Data only."""


def with_rccl(rocm):
    """
    Return the options (str) by which configure builds the programs that measure RCCL.

    It looks for <rccl.h> in --with-rccl/include, and ROCm has had it in include/rccl since 5.2. It puts -lrccl among
    LDFLAGS, in front of what needs it, where linkers that drop what is not needed (--as-needed, Ubuntu's default) drop
    it; then it tries -lnccl, and ends in "cannot link with -lrccl" (configure.ac of OSU 7.4).

    :param rocm: str, folder of ROCm, or a variable of the shell with it
    """
    return '--enable-rcclomb --with-rccl=%s CPPFLAGS=-I%s/include/rccl LIBS=-lrccl' % (rocm, rocm)
