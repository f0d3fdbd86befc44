package io.fibry.store.folder;

import java.io.IOException;

/** Another process has the folder, or can have it: this one must not write any more. */
final class TakenException extends IOException {
  private static final long serialVersionUID = 1;

  TakenException(String message) {
    super(message);
  }
}
