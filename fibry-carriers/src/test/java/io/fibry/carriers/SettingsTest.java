package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Child;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The property {@code fibry.carriers}, and a JVM whose java.lang is closed. */
class SettingsTest {
  private static final String OPEN = "--add-opens=java.base/java.lang=ALL-UNNAMED";

  /** Prints whether handlers run on carriers of this module, and how many carriers there are. */
  static final class Program {
    public static void main(String[] args) {
      try {
        var actor = ActorSystem.anonymous().newActorWithReturn((Integer n) -> Thread.currentThread().toString());
        System.out.println(actor.ask(1).contains("fibry-carrier") ? "own" : "JDK");
        ActorSystem.anonymous().newActorWithReturn((Integer n) -> n).ask(2);
        long carriers = Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
            .filter(name -> name.matches("fibry-carrier-\\d+")).count();
        System.out.println(carriers + " carriers");
      } catch (IllegalStateException refused) {
        System.out.println("refused: " + refused.getMessage());
      }
      System.exit(0);
    }
  }

  private static List<String> run(String... flags) {
    var arguments = new ArrayList<>(List.of(flags));
    arguments.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=info");
    try (var child = Child.java(arguments, Program.class)) {
      return child.awaitExit(0).lines().toList();
    }
  }

  private static long countOf(List<String> lines, String text) {
    return lines.stream().filter(line -> line.contains(text)).count();
  }

  @Test
  void jvmWithOpenJavaLangUsesOneCarrierPerProcessor() {
    var lines = run(OPEN);

    assertEquals(List.of("own", Runtime.getRuntime().availableProcessors() + " carriers"), lines);
  }

  @Test
  void numberSettingDefinesCountOfCarriers() {
    assertEquals(List.of("own", "5 carriers"), run(OPEN, "-Dfibry.carriers=5"));
  }

  @Test
  void settingOffUsesSchedulerOfJdkWithoutLog() {
    assertEquals(List.of("JDK", "0 carriers"), run(OPEN, "-Dfibry.carriers=off"));
  }

  @Test
  void jvmWithClosedJavaLangLogsFlagAndManifestLineOnce() {
    var lines = run();

    assertEquals(1, countOf(lines, "fibry-carriers is not used, because java.lang is closed"), lines::toString);
    assertEquals(1, countOf(lines, "INFO"), lines::toString);
    assertEquals(1, countOf(lines, "--add-opens java.base/java.lang=ALL-UNNAMED"), lines::toString);
    assertEquals(1, countOf(lines, "'Add-Opens: java.base/java.lang'"), lines::toString);
    assertEquals(List.of("JDK", "0 carriers"), lines.subList(lines.size() - 2, lines.size()));
  }

  @Test
  void settingRequiredFailsWhenJavaLangIsClosed() {
    var lines = run("-Dfibry.carriers=required");

    assertTrue(lines.getLast().startsWith("refused: fibry.carriers=required, but fibry-carriers is not used"),
        lines::toString);
    assertTrue(lines.getLast().contains("--add-opens java.base/java.lang=ALL-UNNAMED"), lines::toString);
  }

  @Test
  void settingRequiredFailsWithoutCarriersModule() throws URISyntaxException {
    var module = Path.of(OwnCarriers.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    var wholePath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    var path = Stream.of(wholePath.split(File.pathSeparator)).filter(part -> !Path.of(part).equals(module))
        .collect(Collectors.joining(File.pathSeparator));
    try (var child = Child.java(List.of(OPEN, "-Dfibry.carriers=required", "-cp", path, Program.class.getName()))) {
      String output = child.awaitExit(0);
      assertTrue(output.contains("not used, because it is on neither"), output);
    }
  }

  @Test
  void invalidSettingIsRefused() {
    for (var setting : List.of("on", "0", "1025", "-3")) {
      var lines = run(OPEN, "-Dfibry.carriers=" + setting);
      assertTrue(lines.getLast().startsWith("refused: fibry.carriers=" + setting + " is not valid"), lines::toString);
    }
  }
}
