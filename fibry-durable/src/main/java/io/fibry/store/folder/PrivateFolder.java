package io.fibry.store.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** Makes folders that only the user of this process may read, and forces their names to disk. */
final class PrivateFolder {
  private static final boolean SYNC_SUPPORTED = !System.getProperty("os.name").startsWith("Windows");
  private static final FileAttribute<?>[] NONE = {};

  private PrivateFolder() {}

  /**
   * Creates the folder and its missing parents; folders that exist keep their permissions. Forces
   * the name of an empty folder, too, because the process that created it may have died before.
   */
  static void create(Path folder) throws IOException {
    var parent = folder.toAbsolutePath().getParent();
    if (parent == null || Files.isDirectory(folder) && !isEmpty(folder)) return;
    if (!Files.isDirectory(folder)) {
      create(parent);
      Files.createDirectories(folder, ownersOnly(parent, "rwx------")); // another process may have made it
    }
    try {
      sync(parent);
    } catch (AccessDeniedException unreadable) { // this user cannot force its names
      LoggerFactory.getLogger(FolderStore.class).debug("{} cannot be forced", parent, unreadable);
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isEmpty();
    }
  }

  /**
   * The permissions with which a file or a folder is created.
   *
   * @param folder in which it is created
   * @return empty if the file system has no POSIX permissions
   */
  static FileAttribute<?>[] ownersOnly(Path folder, String permissions) {
    return folder.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))}
        : NONE;
  }

  /** Waits until the names in a folder are on disk. */
  static void sync(Path folder) throws IOException {
    if (!SYNC_SUPPORTED) return;
    try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
