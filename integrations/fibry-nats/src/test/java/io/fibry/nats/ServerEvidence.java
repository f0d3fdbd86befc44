package io.fibry.nats;

import io.fibry.support.Evidence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Saves the logs and streams of the servers that a failed test has started. */
public final class ServerEvidence implements BeforeEachCallback, AfterTestExecutionCallback {
  private static final List<Path> FOLDERS = new CopyOnWriteArrayList<>(); // of the servers of this test

  static void add(Path folder) {
    FOLDERS.add(folder);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    FOLDERS.clear();
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().isEmpty()) return;
    for (var folder : FOLDERS) copyToEvidence(folder, context.getRequiredTestClass().getSimpleName() + "-"
        + context.getRequiredTestMethod().getName() + "-" + folder.getFileName());
  }

  /** Copies the folder. Its server may delete a file during the copy. */
  private static void copyToEvidence(Path folder, String name) {
    try (var files = Files.walk(folder)) {
      for (var file : (Iterable<Path>) files::iterator) {
        var copy = Evidence.FOLDER.resolve(name).resolve(folder.relativize(file).toString());
        if (Files.isDirectory(file)) Files.createDirectories(copy);
        else if (Files.exists(file)) Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException | UncheckedIOException failure) {
      System.out.println("not all of " + folder + " was copied: " + failure);
    }
  }
}
