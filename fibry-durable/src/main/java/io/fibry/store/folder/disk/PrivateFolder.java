package io.fibry.store.folder.disk;

import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/** Creates folders that only the user of this process may read, and syncs their names to disk. */
final class PrivateFolder {
  private static final boolean SYNC_SUPPORTED = !System.getProperty("os.name").startsWith("Windows");
  private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

  private PrivateFolder() {}

  /** Waits until the names in a folder are on disk. */
  interface NameSync {
    void sync(Path folder) throws IOException;
  }

  /**
   * Creates the folder and its missing parents. Folders that exist keep their permissions. The name
   * of an empty folder is synced, too, because the process that created it may have died before it
   * synced the name.
   */
  static void create(Path folder) throws IOException {
    create(folder, PrivateFolder::sync);
  }

  static void create(Path folder, NameSync nameSync) throws IOException {
    var parent = folder.toAbsolutePath().getParent();
    if (parent == null || Files.isDirectory(folder) && !isEmpty(folder)) return;
    if (!Files.isDirectory(folder)) {
      create(parent, nameSync);
      // Does not fail if another process creates the folder at the same time.
      Files.createDirectories(folder, permissionAttributes(parent, "rwx------"));
    }
    try {
      nameSync.sync(parent);
    } catch (AccessDeniedException unreadable) { // this user may not open the parent, so its names cannot be synced
      SafeLogger.of("io.fibry.store.folder.FolderStore").debug("{} cannot be synced", parent, unreadable);
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isEmpty();
    } catch (AccessDeniedException unreadable) {
      return false; // this user did not create it, so its name is on disk
    }
  }

  /**
   * Returns the permissions with which a file or a folder is created; an empty array if the file
   * system has no POSIX permissions.
   *
   * @param folder the folder in which it is created
   * @param permissions in the form {@code rwx------}
   */
  static FileAttribute<?>[] permissionAttributes(Path folder, String permissions) {
    return folder.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))}
        : NO_ATTRIBUTES;
  }

  /** Waits until the names in a folder are on disk. */
  static void sync(Path folder) throws IOException {
    if (!SYNC_SUPPORTED) return;
    try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
