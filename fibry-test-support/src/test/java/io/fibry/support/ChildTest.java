package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class ChildTest {
  private static Child shell(String script) {
    return Child.start(List.of("/bin/sh", "-c", script));
  }

  private static boolean isAlive(long process) {
    return ProcessHandle.of(process).map(ProcessHandle::isAlive).orElse(false);
  }

  static final class SleepingChild {
    public static void main(String[] args) {
      try (var child = shell("echo begun; exec sleep 1000")) {
        child.awaitExit(0);
      }
    }
  }

  /** Waits for a child that computes for longer than the patience, and prints nothing. */
  static final class ComputingChild {
    public static void main(String[] args) {
      try (var child = Child.java(List.of(), Computation.class)) {
        child.awaitExit(0);
      }
    }
  }

  static final class Computation {
    public static void main(String[] args) {
      for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3); System.nanoTime() < end;) Thread.onSpinWait();
    }
  }

  /** Starts a child, prints the process id of the child, and ends before the child. */
  static final class AbandonedChild {
    public static void main(String[] args) {
      var child = shell("exec sleep 1000");
      System.out.println(child.handle().pid());
    }
  }

  /** Prints the process id of a child that ends with its parent, and runs until it is killed. */
  static final class KilledParent {
    public static void main(String[] args) throws InterruptedException {
      var child = Child.java(List.of(), DependentChild.class);
      child.awaitLine("begun");
      System.out.println(child.handle().pid());
      Thread.currentThread().join();
    }
  }

  static final class DependentChild {
    public static void main(String[] args) throws InterruptedException {
      Child.endWithParent();
      System.out.println("begun");
      Thread.currentThread().join();
    }
  }

  @Test
  void childGetsInputAndGivesOutputAndExitCode() throws IOException {
    try (var child = shell("echo one; echo two >&2; read line; echo $line; exit 3")) {
      child.awaitLine("two");
      child.input().write("three\n".getBytes(StandardCharsets.UTF_8));
      child.input().flush();

      assertEquals("one\ntwo\nthree", child.awaitExit(3));
    }
  }

  @Test
  void awaitLineFindsOnlyLinesAfterPreviousMatch() {
    try (var child = shell("echo a; echo b; echo a; echo c")) {
      child.awaitLine("b");
      child.awaitLine("a");
      assertTrue(assertThrows(AssertionError.class, () -> child.awaitLine("b")).getMessage().contains("a\nb\na\nc"));
    }
  }

  @Test
  void failureForWrongExitCodeShowsOutput() {
    try (var child = shell("echo the reason; exit 4")) {
      var failure = assertThrows(AssertionError.class, () -> child.awaitExit(0)).getMessage();
      assertTrue(failure.contains("ended with 4") && failure.contains("the reason"), failure);
    }
  }

  @Test
  void closeKillsChildAndItsDescendants() {
    long grandchild;
    try (var child = shell("sleep 1000 & echo $!; wait")) {
      grandchild = Long.parseLong(child.awaitLine(line -> true));
    }
    Patience.eventually(() -> !isAlive(grandchild));
  }

  @Test
  void awaitExitFailsWhenChildStaysIdle() {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), SleepingChild.class)) {
      var text = child.awaitExit(1);
      assertTrue(text.contains("does not end") && text.contains("begun"), text);
    }
  }

  @Test
  void awaitExitWaitsAsLongAsChildComputes() {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), ComputingChild.class)) {
      child.awaitExit(0);
    }
  }

  @Test
  void childEndsWithJvmThatStartedIt() {
    try (var child = Child.java(List.of(), AbandonedChild.class)) {
      long process = Long.parseLong(child.awaitExit(0).strip());
      Patience.eventually(() -> !isAlive(process));
    }
  }

  @Test
  void dependentChildEndsWhenItsParentIsKilled() {
    try (var parent = Child.java(List.of(), KilledParent.class)) {
      long process = Long.parseLong(parent.awaitLine(line -> line.matches("\\d+")));
      try {
        parent.handle().destroyForcibly(); // so that no shutdown hook runs
        Patience.eventually(() -> !isAlive(process));
      } finally {
        ProcessHandle.of(process).ifPresent(ProcessHandle::destroyForcibly);
      }
    }
  }

  @Test
  void pausedChildUsesNoProcessorUntilResumed() {
    try (var child = shell("while :; do :; done")) {
      child.pause();
      Patience.eventually(() -> isPaused(child));
      child.resume();
      Patience.eventually(() -> !isPaused(child));
    }
  }

  private static boolean isPaused(Child child) {
    var timeBefore = child.handle().info().totalCpuDuration();
    LockSupport.parkNanos(50_000_000);
    return timeBefore.equals(child.handle().info().totalCpuDuration());
  }

  @Test
  void startOfMissingProgramThrowsException() {
    assertFalse(assertThrows(UncheckedIOException.class, () -> Child.start(List.of("/no/such/program")))
        .getMessage().isEmpty());
  }
}
