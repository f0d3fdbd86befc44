package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that each stored message is handled once although an actor has two lives at the same time.
 * This can happen if one life runs on a node that was wrongly declared dead.
 */
class ConcurrentLivesTest {
  sealed interface Message {}
  record Add(long cents) implements Message, Request<Add, Long> {}
  record AddOnce(String idempotencyKey, long cents) implements Message, Idempotent, Request<AddOnce, Long> {}
  record Give(long cents) implements Message {}
  record Sum() implements Message, Request<Sum, Long> {}

  private static final Durable<Message> TILL = Durable.kind("till", Message.class).storeMessages(100).state(0L)
      .handler((cents, message, context) -> switch (message) {
        case Add add -> {
          context.reply(add, cents + add.cents());
          yield cents + add.cents();
        }
        case AddOnce add -> {
          context.reply(add, cents + add.cents());
          yield cents + add.cents();
        }
        case Give give -> cents + give.cents();
        case Sum sum -> {
          context.reply(sum, cents);
          yield cents;
        }
      });

  private final StoreBackend store = StoreBackend.of(MemoryStore.open());
  private final ActorScope scope = ActorSystem.openScope("two-lives-test");
  private final ActorScope otherScope = ActorSystem.openScope("others");
  private final AtomicBoolean otherLifeIsNext = new AtomicBoolean(true); // true: another life handles the next message

  @AfterEach
  void close() {
    scope.close();
    otherScope.close();
  }

  /**
   * Returns a store whose next message is handled by another life, after it is stored and before
   * its sender is notified.
   */
  private Store storeWithOtherLife() {
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      var answer = call.pass();
      if (method.getName().equals("enqueue") && otherLifeIsNext.getAndSet(false)) handleInOtherLife();
      return answer;
    });
  }

  private void handleInOtherLife() {
    var id = new Store.ActorId("till", "t");
    try (var otherLife = TILL.newActor(otherScope.named("t"), store)) {
      Patience.eventually(() -> store.pending(id, store.clock().instant(), 1).isEmpty());
      assertTrue(otherLife.ask(new Sum()) > 0);
    }
  }

  @Test
  void requestHandledByAnotherLifeIsNotRepeated() {
    var till = TILL.newActor(scope.named("t"), storeWithOtherLife());

    var failure = assertThrows(RequestStoredException.class, () -> till.ask(new Add(5)));

    assertEquals(RequestOutcome.WILL_BE_DONE, failure.outcome());
    assertInstanceOf(NoReplyException.class, failure.getCause());
    assertEquals("Add[cents=5] was handled by another life of till 't', whose answer is not known here",
        failure.getCause().getMessage());
    assertEquals(5, till.ask(new Sum()));
    assertEquals(7, till.ask(new Add(2)));
  }

  @Test
  void rememberedAnswerOfAnotherLifeIsReturned() {
    var till = TILL.newActor(scope.named("t"), storeWithOtherLife());

    assertEquals(5, till.ask(new AddOnce("a", 5)));

    assertEquals(5, till.ask(new Sum()));
  }

  @Test
  void messageHandledByAnotherLifeIsNotRepeated() {
    var till = TILL.newActor(scope.named("t"), storeWithOtherLife());

    assertTrue(till.sendMessage(new Give(5)));

    assertEquals(5, till.ask(new Sum()));
  }
}
