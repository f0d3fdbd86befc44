package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests the classes that a JVM loads for the first actor. Their number decides the processor time
 * of a start, which fibry-bench measures as the budget "start". The JVM has the default archive of
 * the JDK's classes, which contains no class of the library.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StartJvmTest {
  /** Some more than the present 184 to 186, because the verifier of another JVM may load others. */
  private static final int MAX_CLASSES = 195;

  /** Makes one actor, which handles one message. */
  static final class OneActor implements Handler<CountDownLatch> {
    public static void main(String[] args) {
      var handled = new CountDownLatch(1);
      ActorSystem.anonymous().newActor(new OneActor()).sendMessage(handled);
      Patience.await(handled);
    }

    @Override
    public void handle(CountDownLatch message) {
      message.countDown();
    }
  }

  private Child child;
  private String log;

  @BeforeAll
  void startProgram() {
    child = Child.java(List.of("-Xlog:class+load"), OneActor.class);
    log = child.awaitExit(0);
  }

  @AfterAll
  void closeChild() {
    child.close();
  }

  private List<String> loadedClasses(String prefix) {
    return log.lines().filter(line -> line.contains(" source: ")).flatMap(line -> Stream.of(line.split(" ")))
        .filter(word -> word.startsWith(prefix)).toList();
  }

  @Test
  void firstActorLoadsFewClasses() {
    var classes = loadedClasses("io.fibry.").stream().filter(name -> !name.startsWith("io.fibry.support.")).toList();

    assertTrue(classes.contains(EngineClasses.class.getName()), log);
    assertTrue(classes.size() <= MAX_CLASSES, () -> classes.size() + " classes: " + classes);
  }

  /** The JVM makes a class for each lambda, which takes longer than loading a class. */
  @Test
  void firstActorLinksNoLambda() {
    var lambdas = loadedClasses("io.fibry.").stream()
        .filter(name -> name.contains("$$Lambda") && !name.startsWith("io.fibry.support.")).toList();

    assertEquals(List.of(), lambdas);
  }

  @Test
  void firstActorLoadsNoLogger() {
    assertEquals(List.of(), loadedClasses("org.slf4j."));
  }

  @Test
  void plainActorLoadsNoLockedMailbox() {
    assertEquals(List.of(), loadedClasses("io.fibry.engine.queue.GuardedQueue"));
  }
}
