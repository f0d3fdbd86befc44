package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.pool.Pools;
import io.fibry.spi.AskChain;
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

class AskersTest {
  private static final List<String> BOTH = List.of("ada", "self");

  private final ActorScope scope = ActorSystem.openScope("askers");
  private final ActorWithReturn<String, List<String>> last =
      scope.anonymous().newActorWithReturn(any -> AskChain.current());

  static List<Strategy> strategies() {
    return List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private static <R> R onBehalf(List<String> askers, Supplier<R> sending) {
    var sent = new ArrayList<R>();
    AskChain.runAs(askers, () -> sent.add(sending.get()));
    return sent.getFirst();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askChainReachesHandlerAndNestedAsks(Strategy strategy) {
    var middle = scope.anonymous().strategy(strategy).<String, List<String>>newActorWithReturn(any -> last.ask(any));
    var first = scope.anonymous().strategy(strategy)
        .<String, List<List<String>>>newActorWithReturn(
            any -> List.of(AskChain.current(), middle.ask("x"), AskChain.current()));

    assertEquals(List.of(BOTH, BOTH, BOTH), onBehalf(BOTH, () -> first.sendMessageReturn("x")).join());
    assertEquals(List.of(List.of(), List.of(), List.of()), first.ask("x")); // the next message has none
    assertEquals(List.of(), AskChain.current());
  }

  @Test
  void askChainReachesInlineHandler() {
    var inline = scope.anonymous().inlineRequests().<String, List<String>>newActorWithReturn(any -> AskChain.current());
    var first = scope.anonymous().<String, List<String>>newActorWithReturn(any -> inline.ask(any));

    assertEquals(BOTH, onBehalf(BOTH, () -> first.sendMessageReturn("x")).join());
    assertEquals(List.of(), first.ask("x"));
  }

  @Test
  void askChainReachesHandlerOfPlainMessage() throws Exception {
    var seen = new LinkedBlockingQueue<List<String>>();
    var actor = scope.anonymous().newActor((String any) -> seen.add(AskChain.current()));

    onBehalf(List.of("self"), () -> actor.sendMessage("x"));
    assertEquals(List.of("self"), Patience.next(seen));
    onBehalf(List.of("self"), () -> actor.sendMessages(List.of("x", "y")));
    assertEquals(List.of("self"), Patience.next(seen));
    assertEquals(List.of("self"), Patience.next(seen));
  }

  @Test
  void nestedRequestThatIsNotAwaitedHasEmptyAskChain() {
    var first = scope.anonymous()
        .<String, CompletableFuture<List<String>>>newActorWithReturn(any -> last.sendMessageReturn("x"));

    assertEquals(List.of(), onBehalf(BOTH, () -> first.sendMessageReturn("x")).join().join());
  }

  @Test
  void poolOmitsItselfFromAskChain() {
    var pool = Pools.fixed(scope.anonymous(), 2).<String, List<String>>newActorWithReturn(any -> AskChain.current());

    assertEquals(List.of("ada"), onBehalf(BOTH, () -> pool.sendMessageReturn("x")).join());
    assertEquals(List.of(), onBehalf(List.of("self"), () -> pool.sendMessageReturn("x")).join());
  }

  @Test
  void redeliveredMessageKeepsAskChain() throws Exception {
    var seen = new LinkedBlockingQueue<List<String>>();
    var actor = scope.anonymous().onFailure(FailurePolicy.restart().withRedelivery(1)).newActor((String any) -> {
      seen.add(AskChain.current());
      throw new IllegalStateException("made up");
    });

    onBehalf(BOTH, () -> actor.sendMessage("x"));

    assertEquals(BOTH, Patience.next(seen));
    assertEquals(BOTH, Patience.next(seen));
  }

  @Test
  void runAsRestoresAskChainWhenCodeEnds() {
    assertThrows(IllegalStateException.class, () -> AskChain.runAs(BOTH, () -> {
      throw new IllegalStateException("made up");
    }));

    assertEquals(List.of(), last.sendMessageReturn("x").join());
    assertEquals(List.of("ada"),
        onBehalf(BOTH, () -> onBehalf(List.of("ada"), () -> last.sendMessageReturn("x"))).join());
  }
}
