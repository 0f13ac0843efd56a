"""
Putting an installation in place in one move, so that an error or an interruption leaves what was there before.
"""
import os
import shutil


def free_space_problem(folder, size):
    """Return a sentence (str) if the file system of folder has less than size bytes free for the caller, else None."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    stat = os.statvfs(folder)
    free = stat.f_bavail * stat.f_frsize
    if free < size:
        return "%s has %d MB free, %d MB are needed: free some space or install elsewhere (eb --installpath=...)" % (
            folder, free >> 20, (size >> 20) + 1)
    return None


def remove_empty_folders(path, levels):
    """Remove the folder path (str) and its parents, levels (int) of them at most, as far as they are empty."""
    for _ in range(levels):
        try:
            os.rmdir(path)
        except OSError:
            if os.path.isdir(path):
                return  # something else is in it
        path = os.path.dirname(path)


class StagedInstall(object):
    """
    A folder filled beside its final place. commit() moves it there and keeps the older installation aside until
    finish() or rollback(). EasyBuild's lock on the installation folder keeps two of them apart.
    """

    def __init__(self, final):
        """Prepare to replace the folder final (str); what an interrupted run left beside it is removed."""
        self.final, self.stage, self.old = final, final + '.part', final + '.old'
        self.committed = False
        if os.path.isdir(self.old) and not os.path.isdir(final):
            os.rename(self.old, final)
        for leftover in (self.stage, self.old):
            shutil.rmtree(leftover, ignore_errors=True)

    def commit(self):
        """Put the filled folder in its place."""
        if os.path.isdir(self.final):
            os.rename(self.final, self.old)
        os.rename(self.stage, self.final)
        self.committed = True

    def finish(self):
        """Forget the older installation."""
        shutil.rmtree(self.old, ignore_errors=True)

    def rollback(self):
        """Remove what this run made, put the older installation back."""
        shutil.rmtree(self.stage, ignore_errors=True)
        if os.path.isdir(self.old):
            shutil.rmtree(self.final, ignore_errors=True)
            os.rename(self.old, self.final)
        elif self.committed:
            shutil.rmtree(self.final, ignore_errors=True)
