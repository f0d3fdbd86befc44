package io.fibry;

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
 * Restricts the code that runs at the first use of a class. No static initializer waits. A fiber
 * that initializes a class holds its carrier, and so does each fiber that waits for the class. If
 * there are as many as carriers, all fibers stop for ever.
 */
class InitializerRulesTest {
  private static final Set<String> WAITS =
      Set.of("join", "get", "await", "park", "parkNanos", "sleep", "wait", "acquire", "take");

  private static final Set<String> PACKAGES = Set.of("java.util.concurrent", "java.util.concurrent.locks");

  /** The case that the rule prevents. */
  static final class Waiting {
    private static final CountDownLatch DONE = new CountDownLatch(1);

    static {
      indirectly();
    }

    private static void indirectly() {
      try {
        DONE.await();
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    }
  }

  /** GuardedQueue links its code with a wait for what has come already. */
  private static final Set<String> ALLOWED = Set.of("io.fibry.engine.queue.ManagedPark.until"
      + "(java.util.function.BooleanSupplier, java.lang.Object) calls LockSupport.park");

  @Test
  void initializersWaitOnlyWhereAllowed() {
    assertEquals(ALLOWED, waits(ArchitectureTest.MAIN));
  }

  /**
   * A call site that is linked while memory is full fails for ever, and texts describe what happens
   * at such moments.
   */
  @Test
  void noClassUsesStringConcatFactory() throws IOException {
    var linked = new TreeSet<String>();
    for (var type : ArchitectureTest.MAIN)
      try (var code = type.getSource().orElseThrow().getUri().toURL().openStream()) {
        if (new String(code.readAllBytes(), StandardCharsets.ISO_8859_1).contains("StringConcatFactory"))
          linked.add(type.getName());
      }

    assertEquals(Set.of(), linked);
  }

  @Test
  void waitingInitializerIsFound() {
    assertTrue(waits(new ClassFileImporter().importClasses(Waiting.class)).toString().contains("CountDownLatch.await"));
  }

  private static Set<String> waits(JavaClasses classes) {
    var found = new TreeSet<String>();
    for (var type : classes) type.getStaticInitializer().ifPresent(start -> follow(start, new HashSet<>(), found));
    return found;
  }

  /** Calls of the library's own code, as far as they are known without running it. */
  private static void follow(JavaCodeUnit code, Set<JavaCodeUnit> seen, Set<String> found) {
    if (!seen.add(code)) return;
    for (var call : code.getCallsFromSelf()) {
      CodeUnitCallTarget target = call.getTarget();
      var owner = target.getOwner();
      if (WAITS.contains(target.getName())
          && (PACKAGES.contains(owner.getPackageName()) || owner.isEquivalentTo(Thread.class)
              || owner.isEquivalentTo(Object.class)))
        found.add(code.getFullName() + " calls " + owner.getSimpleName() + "." + target.getName());
      if (owner.getPackageName().startsWith("io.fibry"))
        target.resolveMember().filter(member -> !member.getModifiers().contains(JavaModifier.ABSTRACT))
            .ifPresent(member -> follow((JavaCodeUnit) member, seen, found));
    }
  }
}
