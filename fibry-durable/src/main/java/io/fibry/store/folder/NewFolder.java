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
final class NewFolder {
  private static final boolean FORCED = !System.getProperty("os.name").startsWith("Windows");
  private static final FileAttribute<?>[] NONE = {};

  private NewFolder() {}

  /**
   * Makes the folder, and the folders above that are missing; changes no other. Forces the name of
   * the folder also if it is empty: the process that made it may have ended before it did so.
   */
  static void make(Path folder) throws IOException {
    var parent = folder.toAbsolutePath().getParent();
    if (parent == null || Files.isDirectory(folder) && !isEmpty(folder)) return;
    if (!Files.isDirectory(folder)) {
      make(parent);
      Files.createDirectories(folder, ownersOnly(parent, "rwx------")); // another process may have made it
    }
    try {
      force(parent);
    } catch (AccessDeniedException unreadable) { // the names in it cannot be forced by this user
      LoggerFactory.getLogger(FolderStore.class).debug("{} cannot be forced", parent, unreadable);
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isEmpty();
    }
  }

  /**
   * Permissions of a new file or folder.
   *
   * @param folder in which it will be
   * @return none where the file system has other ones
   */
  static FileAttribute<?>[] ownersOnly(Path folder, String permissions) {
    return folder.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))}
        : NONE;
  }

  /** Waits until the names in a folder are on disk. */
  static void force(Path folder) throws IOException {
    if (!FORCED) return;
    try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
