package io.fibry.store.folder.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
  @TempDir
  private Path temporary;

  private List<Path> syncedBy(Path folder) throws IOException {
    var synced = new ArrayList<Path>();
    PrivateFolder.create(folder, synced::add);
    assertTrue(Files.isDirectory(folder));
    return synced.stream().map(temporary::relativize).toList();
  }

  @Test
  void parentsOfNewFoldersAreSynced() throws Exception {
    Files.writeString(temporary.resolve("file"), "x");

    assertEquals(List.of(Path.of(""), Path.of("a"), Path.of("a/b")), syncedBy(temporary.resolve("a/b/c")));
  }

  /** The process that created an empty folder may have died before it synced the folder's name. */
  @Test
  void parentOfExistingEmptyFolderIsSynced() throws Exception {
    Files.createDirectories(temporary.resolve("a/b"));

    assertEquals(List.of(Path.of("a")), syncedBy(temporary.resolve("a/b")));
  }

  @Test
  void parentOfFolderWithFilesIsNotSynced() throws Exception {
    Files.writeString(temporary.resolve("file"), "x");

    assertEquals(List.of(), syncedBy(temporary));
  }
}
