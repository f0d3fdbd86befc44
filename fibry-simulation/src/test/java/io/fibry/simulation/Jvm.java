package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child JVM with the Java of this one, and without its agent. */
public final class Jvm {
  /** The class path of this JVM. */
  public static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final int PATIENCE = 60; // seconds

  private Jvm() {}

  /** Runs a program until it ends; returns what it printed. */
  public static String run(int exit, List<String> flags, String classPath, Class<?> main)
      throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath, main.getName()));
    var printed = File.createTempFile("jvm", ".txt");
    var process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(printed).start();
    try {
      boolean ended = process.waitFor(PATIENCE, TimeUnit.SECONDS);
      var text = Files.readString(printed.toPath());
      assertTrue(ended, () -> "it does not end: " + text);
      assertEquals(exit, process.exitValue(), text);
      return text;
    } finally {
      process.destroyForcibly();
      printed.delete();
    }
  }
}
