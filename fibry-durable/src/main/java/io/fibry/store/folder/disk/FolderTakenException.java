package io.fibry.store.folder.disk;

import java.io.IOException;

/**
 * Thrown when another process owns the folder, or could own it, so this store must stop writing.
 */
public final class FolderTakenException extends IOException {
  private static final long serialVersionUID = 1;

  FolderTakenException(String message) {
    super(message);
  }
}
