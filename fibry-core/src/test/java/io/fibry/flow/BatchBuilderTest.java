package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class BatchBuilderTest extends BatchFixture {
  private static final Duration SECOND = Duration.ofSeconds(1);

  BatchBuilderTest() {
    super(ActorScope.Options::withScheduler);
  }

  @Test
  void interceptorSeesSentMessagesButNoInternalMessages() {
    var intercepted = new CopyOnWriteArrayList<Object>();
    Actor<String> log =
        Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER).intercept((String message, Handler.Task next) -> {
          intercepted.add(message);
          next.run();
        }), 2, SECOND, received::add);

    for (var message : List.of("a", "b", "c")) log.sendMessage(message);
    clock.advance(SECOND);

    assertEquals(List.of("a", "b", "c"), intercepted);
    assertEquals(List.of(List.of("a", "b"), List.of("c")), received);
  }

  @Test
  void actorsOfBatchAreNamedAfterBuilder() {
    Actor<String> log =
        Batch.ofLists(scope.named("log"), 1, SECOND, batch -> received.add(Thread.currentThread().getName()));

    log.sendMessage("a");
    awaitQuiet();

    assertEquals("log", log.name());
    assertEquals("actor 'log'", log.toString());
    assertEquals(List.of("log/batch"), received);
  }

  @Test
  void nonPositiveBatchSizeOrWaitIsRefused() {
    var zeroSize =
        assertThrows(IllegalArgumentException.class, () -> Batch.ofLists(scope.anonymous(), 0, SECOND, received::add));
    var zeroWait = assertThrows(IllegalArgumentException.class,
        () -> Batch.ofCounts(scope.anonymous(), 1, Duration.ZERO, received::add));
    var negativeWait = assertThrows(IllegalArgumentException.class,
        () -> Batch.ofLists(scope.anonymous(), 1, SECOND.negated(), received::add));

    assertEquals("a batch of 0 messages would never be full; give at least 1", zeroSize.getMessage());
    assertEquals("a batch cannot wait 0 s for its messages; give more than zero", zeroWait.getMessage());
    assertEquals("a batch cannot wait -1 s for its messages; give more than zero", negativeWait.getMessage());
  }

  @Test
  void priorityMailboxIsRefused() {
    var refusal = assertThrows(IllegalArgumentException.class,
        () -> Batch.ofLists(scope.anonymous().mailbox(Mailbox.<String>priority((a, b) -> 0)), 1, SECOND,
            (List<String> batch) -> {}));

    assertEquals(
        "a batch sends itself messages at time limits, which a priority mailbox cannot order; give it another mailbox",
        refusal.getMessage());
  }

  @Test
  void batchOnPoolBuilderIsRefused() {
    var refusal = assertThrows(IllegalArgumentException.class,
        () -> Batch.ofLists(BlockBuilder.of(scope.anonymous()).pooled(PoolSpec.scaling(2, 2)), 1, SECOND,
            received::add));

    assertEquals("the workers of a pool would gather a batch each; give a builder of actors", refusal.getMessage());
  }

  @Test
  void exceptionNamesNullArgument() {
    var builder = scope.anonymous();

    assertNullRefused("builder", () -> Batch.ofLists(null, 1, SECOND, received::add));
    assertNullRefused("wait", () -> Batch.ofLists(builder, 1, null, received::add));
    assertNullRefused("handler", () -> Batch.ofLists(builder, 1, SECOND, null));
    assertNullRefused("key",
        () -> Batch.<String, String>ofMerged(builder, 1, SECOND, null, (a, b) -> b, received::add));
    assertNullRefused("merge", () -> Batch.<String, String>ofMerged(builder, 1, SECOND, a -> a, null, received::add));
    assertNullRefused("message", () -> Batch.<String>ofLists(builder, 1, SECOND, received::add).sendMessage(null));
  }

  @Test
  void batchWithUsedNameIsRefusedAndLeavesNoActor() {
    scope.named("log").newActor((String message) -> {});

    assertThrows(IllegalArgumentException.class, () -> Batch.ofLists(scope.named("log"), 1, SECOND, received::add));

    Patience.eventually(() -> !scope.dump().contains("log/batch"));
  }
}
