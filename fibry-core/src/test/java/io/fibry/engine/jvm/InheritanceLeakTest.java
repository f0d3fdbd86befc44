package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
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
 * Tests that a handler sees neither the inheritable thread-locals nor the class loader of the
 * thread that created the actor or sent to it. Otherwise the handler could handle a message of Bob
 * as Alice.
 */
class InheritanceLeakTest {
  private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

  static Stream<Strategy> ownThreadStrategies() {
    return Stream.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  @ParameterizedTest
  @MethodSource("ownThreadStrategies")
  void noHandlerSeesThreadLocalsOrClassLoaderOfSender(Strategy strategy) throws Exception {
    Set<String> handlerContexts = ConcurrentHashMap.newKeySet();
    var systemLoader = ClassLoader.getSystemClassLoader();

    for (int i = 0; i < 20; i++) {
      var alice = startSender("alice", strategy, handlerContexts, systemLoader);
      var bob = startSender("bob", strategy, handlerContexts, systemLoader);
      Patience.awaitEnd(alice);
      Patience.awaitEnd(bob);
    }

    assertEquals(Set.of("null, system"), handlerContexts);
  }

  /** Creates an actor as this user, and sends messages and requests to it. */
  private static Thread startSender(String user, Strategy strategy, Set<String> handlerContexts,
      ClassLoader systemLoader) {
    return Thread.ofPlatform().start(() -> {
      USER.set(user);
      try (var loader = new URLClassLoader(new URL[0])) {
        Thread.currentThread().setContextClassLoader(loader);
        var actor =
            ActorSystem.anonymous().strategy(strategy).newActorWithReturn((Integer i) -> handlerContexts.add(USER.get()
                + ", " + (Thread.currentThread().getContextClassLoader() == systemLoader ? "system" : "the sender's")));
        actor.sendMessage(1);
        actor.ask(2);
        actor.sendMessageLater(3, Duration.ofNanos(1));
        actor.ask(4);
        actor.close();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    });
  }
}
