package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Restricts the code that runs at the first use of a class. No static initializer may wait. A fiber
 * that initializes a class occupies its carrier, and each fiber that waits for the class occupies
 * another. If such fibers occupy all carriers, no fiber runs again.
 */
class InitializerRulesTest {
  private static final Set<String> WAITING_METHODS =
      Set.of("join", "get", "await", "park", "parkNanos", "sleep", "wait", "acquire", "take");

  private static final Set<String> WAITING_PACKAGES = Set.of("java.util.concurrent", "java.util.concurrent.locks");

  /** A class that breaks the rule: its initializer waits. */
  static final class WaitingInitializer {
    private static final CountDownLatch DONE = new CountDownLatch(1);

    static {
      waitForLatch();
    }

    private static void waitForLatch() {
      try {
        DONE.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * The initializer of GuardedQueue links the code of a wait. It waits for a condition that is
   * already true, so it does not park.
   */
  private static final Set<String> ALLOWED = Set.of("io.fibry.engine.queue.ManagedPark.until"
      + "(java.util.function.BooleanSupplier, java.lang.Object) calls LockSupport.park");

  @Test
  void onlyListedStaticInitializersMayWait() {
    assertEquals(ALLOWED, findWaits(ArchitectureTest.MAIN));
  }

  /**
   * If the JVM links a call site while memory is full, the call site fails forever. The library
   * builds texts even while memory is full, so these texts need no such call site.
   */
  @Test
  void noClassUsesStringConcatFactory() throws IOException {
    var violations = new TreeSet<String>();
    for (var type : ArchitectureTest.MAIN)
      try (var code = type.getSource().orElseThrow().getUri().toURL().openStream()) {
        if (new String(code.readAllBytes(), StandardCharsets.ISO_8859_1).contains("StringConcatFactory"))
          violations.add(type.getName());
      }

    assertEquals(Set.of(), violations);
  }

  @Test
  void ruleFindsInitializerThatWaits() {
    assertTrue(findWaits(new ClassFileImporter().importClasses(WaitingInitializer.class)).toString()
        .contains("CountDownLatch.await"));
  }

  private static Set<String> findWaits(JavaClasses classes) {
    var waits = new TreeSet<String>();
    for (var type : classes)
      type.getStaticInitializer().ifPresent(initializer -> follow(initializer, new HashSet<>(), waits));
    return waits;
  }

  /**
   * Follows calls to code of the library, except calls of abstract methods, and collects calls that
   * wait.
   */
  private static void follow(JavaCodeUnit code, Set<JavaCodeUnit> visited, Set<String> waits) {
    if (!visited.add(code)) return;
    for (var call : code.getCallsFromSelf()) {
      CodeUnitCallTarget target = call.getTarget();
      var owner = target.getOwner();
      if (WAITING_METHODS.contains(target.getName())
          && (WAITING_PACKAGES.contains(owner.getPackageName()) || owner.isEquivalentTo(Thread.class)
              || owner.isEquivalentTo(Object.class)))
        waits.add(code.getFullName() + " calls " + owner.getSimpleName() + "." + target.getName());
      if (owner.getPackageName().startsWith("io.fibry"))
        target.resolveMember().filter(member -> !member.getModifiers().contains(JavaModifier.ABSTRACT))
            .ifPresent(member -> follow((JavaCodeUnit) member, visited, waits));
    }
  }
}
