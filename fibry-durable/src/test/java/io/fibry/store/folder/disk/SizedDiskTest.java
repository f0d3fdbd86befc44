package io.fibry.store.folder.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the sizes of files follow all changes of the files. */
class SizedDiskTest {
  @TempDir
  private Path folder;

  @Test
  void fileWithoutKnownSizeIsMeasuredWhenItIsRenamed() throws IOException {
    try (var disk = SizedDisk.of(FileDisk.open(folder))) {
      disk.write("old", 0, ByteBuffer.wrap(new byte[7])); // creates a file whose size the disk does not know

      disk.rename("old", "new");

      assertEquals(List.of("new"), disk.names());
      assertEquals(7, disk.bytes());
    }
  }

  @Test
  void renamedFileKeepsItsSizeAndReplacesOtherFile() throws IOException {
    try (var disk = SizedDisk.of(FileDisk.open(folder))) {
      disk.create("old", 5);
      disk.create("new", 100);

      disk.rename("old", "new");
      assertEquals(5, disk.bytes());

      assertThrows(IOException.class, () -> disk.rename("missing", "new"));
      assertEquals(5, disk.bytes());
      disk.delete("new");
      assertEquals(0, disk.bytes());
    }
  }
}
