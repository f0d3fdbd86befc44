package io.fibry.durable;

import io.fibry.store.Store;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class TransferInAFolderTest extends TransferContract {
  @TempDir
  private Path folder;

  @Override
  Store open() {
    return new Folders(folder, instants()).open();
  }

  @Override
  Store crash(Store before) throws IOException {
    return new Folders(folder, instants()).crash(before);
  }
}
