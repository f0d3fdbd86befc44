package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A handler sees nothing of the thread that happened to send; otherwise Bob's message could run as
 * Alice.
 */
class InheritanceLeakTest {
  private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

  static Stream<Strategy> own() {
    return Stream.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  @ParameterizedTest
  @MethodSource("own")
  void noHandlerSeesThreadLocalsOrClassLoaderOfASender(Strategy strategy) throws Exception {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    var system = ClassLoader.getSystemClassLoader();

    for (int i = 0; i < 20; i++) {
      var alice = sender("alice", strategy, seen, system);
      var bob = sender("bob", strategy, seen, system);
      Patience.joined(alice);
      Patience.joined(bob);
    }

    assertEquals(Set.of("null, system"), seen);
  }

  /** Makes, tells and asks an actor as this user. */
  private static Thread sender(String user, Strategy strategy, Set<String> seen, ClassLoader system) {
    return Thread.ofPlatform().start(() -> {
      USER.set(user);
      try (var loader = new URLClassLoader(new URL[0])) {
        Thread.currentThread().setContextClassLoader(loader);
        var actor = ActorSystem.anonymous().strategy(strategy).newActorWithReturn((Integer i) -> seen.add(USER.get()
            + ", " + (Thread.currentThread().getContextClassLoader() == system ? "system" : "the sender's")));
        actor.sendMessage(1);
        actor.ask(2);
        actor.sendMessageLater(3, Duration.ofNanos(1));
        actor.ask(4);
        actor.close();
      } catch (IOException impossible) {
        throw new AssertionError(impossible);
      }
    });
  }
}
