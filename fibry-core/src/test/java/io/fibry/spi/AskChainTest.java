package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AskChainTest {
  private static final List<String> ASKERS = List.of("ada", "self");

  private final ActorScope scope = ActorSystem.openScope("askers");
  private final ActorWithReturn<String, List<String>> chainActor =
      scope.anonymous().newActorWithReturn(message -> AskChain.current());

  static List<Strategy> strategies() {
    return List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private static <R> R sendAs(List<String> askers, Supplier<R> sender) {
    var results = new ArrayList<R>();
    AskChain.runAs(askers, () -> results.add(sender.get()));
    return results.getFirst();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askChainReachesHandlerAndNestedAsks(Strategy strategy) {
    var middleActor = scope.anonymous().strategy(strategy)
        .<String, List<String>>newActorWithReturn(message -> chainActor.ask(message));
    var outerActor = scope.anonymous().strategy(strategy)
        .<String, List<List<String>>>newActorWithReturn(
            message -> List.of(AskChain.current(), middleActor.ask("x"), AskChain.current()));

    assertEquals(List.of(ASKERS, ASKERS, ASKERS), sendAs(ASKERS, () -> outerActor.sendMessageReturn("x")).join());
    assertEquals(List.of(List.of(), List.of(), List.of()), outerActor.ask("x")); // the next message has no askers
    assertEquals(List.of(), AskChain.current());
  }

  @Test
  void askChainReachesInlineHandler() {
    var inlineActor = scope.anonymous().inlineRequests()
        .<String, List<String>>newActorWithReturn(message -> AskChain.current());
    var outerActor = scope.anonymous().<String, List<String>>newActorWithReturn(message -> inlineActor.ask(message));

    assertEquals(ASKERS, sendAs(ASKERS, () -> outerActor.sendMessageReturn("x")).join());
    assertEquals(List.of(), outerActor.ask("x"));
  }

  @Test
  void askChainReachesHandlerOfPlainMessage() throws Exception {
    var chains = new LinkedBlockingQueue<List<String>>();
    var actor = scope.anonymous().newActor((String message) -> chains.add(AskChain.current()));

    sendAs(List.of("self"), () -> actor.sendMessage("x"));
    assertEquals(List.of("self"), Patience.nextOf(chains));
    sendAs(List.of("self"), () -> actor.sendMessages(List.of("x", "y")));
    assertEquals(List.of("self"), Patience.nextOf(chains));
    assertEquals(List.of("self"), Patience.nextOf(chains));
  }

  @Test
  void nestedRequestThatIsNotAwaitedHasEmptyAskChain() {
    var outerActor = scope.anonymous()
        .<String, CompletableFuture<List<String>>>newActorWithReturn(message -> chainActor.sendMessageReturn("x"));

    assertEquals(List.of(), sendAs(ASKERS, () -> outerActor.sendMessageReturn("x")).join().join());
  }

  @Test
  void poolOmitsItselfFromAskChain() {
    var pool = Pools.fixed(scope.anonymous(), 2)
        .<String, List<String>>newActorWithReturn(message -> AskChain.current());

    assertEquals(List.of("ada"), sendAs(ASKERS, () -> pool.sendMessageReturn("x")).join());
    assertEquals(List.of(), sendAs(List.of("self"), () -> pool.sendMessageReturn("x")).join());
  }

  @Test
  void redeliveredMessageKeepsAskChain() throws Exception {
    var chains = new LinkedBlockingQueue<List<String>>();
    var actor = scope.anonymous().onFailure(FailurePolicy.restart().withRedelivery(1)).newActor((String message) -> {
      chains.add(AskChain.current());
      throw new IllegalStateException("made up");
    });

    sendAs(ASKERS, () -> actor.sendMessage("x"));

    assertEquals(ASKERS, Patience.nextOf(chains));
    assertEquals(ASKERS, Patience.nextOf(chains));
  }

  @Test
  void runAsRestoresAskChainWhenCodeEnds() {
    assertThrows(IllegalStateException.class, () -> AskChain.runAs(ASKERS, () -> {
      throw new IllegalStateException("made up");
    }));

    assertEquals(List.of(), chainActor.sendMessageReturn("x").join());
    assertEquals(List.of("ada"),
        sendAs(ASKERS, () -> sendAs(List.of("ada"), () -> chainActor.sendMessageReturn("x"))).join());
  }
}
