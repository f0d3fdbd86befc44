package io.fibry.simulation;

import io.fibry.simulation.agent.Agent;
import io.fibry.support.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** Runs child JVMs with the Java version of this JVM, and without its agent. */
public final class Jvm {
  /** The class path of this JVM. */
  public static final String CLASS_PATH = System.getProperty("java.class.path");
  /** The classes of this module. */
  public static final Path CLASSES = Path.of("target/classes").toAbsolutePath();

  private Jvm() {}

  /** Runs a program until it ends, and returns its output. */
  public static String run(int exit, List<String> flags, String classPath, Class<?> main) {
    var arguments = new ArrayList<>(flags);
    arguments.addAll(List.of("-cp", classPath, main.getName()));
    return run(exit, arguments);
  }

  /** Runs a JVM with these arguments until it ends, and returns its output. */
  public static String run(int exit, List<String> arguments) {
    try (var child = Child.java(arguments)) {
      return child.awaitExit(exit);
    }
  }

  /** Builds a jar as Maven does, with the entries of the manifest for the agent and the module. */
  public static Path jar(Path folder) throws IOException {
    var jar = folder.resolve("a jar.jar");
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Automatic-Module-Name", "io.fibry.simulation");
    for (var entry : List.of("Premain-Class", "Agent-Class"))
      manifest.getMainAttributes().putValue(entry, Agent.class.getName());
    for (var entry : List.of("Can-Redefine-Classes", "Can-Retransform-Classes"))
      manifest.getMainAttributes().putValue(entry, "true");
    try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest); var files = Files.walk(CLASSES)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        var name = CLASSES.relativize(file).toString().replace('\\', '/');
        if (name.startsWith("io/fibry/simulation/tap/") || name.startsWith("sun/")) continue;
        out.putNextEntry(new JarEntry(name));
        Files.copy(file, out);
      }
    }
    return jar;
  }
}
