"""What several test files use: started programs, installed EasyBuilds, made-up libraries, images and sessions."""
