"""What a module keeps."""

spent = False
