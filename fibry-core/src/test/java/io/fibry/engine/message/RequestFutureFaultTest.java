package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.RequestOutcome;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.support.Patience;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests rare races of requests by calling the steps of the threads one by one. */
class RequestFutureFaultTest {

  @Test
  void cancelOfAnsweredRequestOfEndedActorDoesNotThrow() {
    var cell = (Cell) (Exitable) Scopes.root("fault", ActorScope.Options.defaults()).anonymous()
        .newActor((String m) -> {});
    var request = new RequestFuture<Object>(cell, "late", null);
    request.begin();
    request.markAnswered();
    ActorInternals.end(cell);

    assertDoesNotThrow(() -> request.cancel(false));
  }

  /** An actor that has ended, and whose first start of a thread fails for lack of memory. */
  private static final class NoMemoryActor implements InvocationHandler {
    private final Recipient recipient = (Recipient) Proxy.newProxyInstance(Recipient.class.getClassLoader(),
        new Class<?>[] {Recipient.class}, this);
    private final AtomicInteger starts = new AtomicInteger();
    private final AtomicInteger withdrawals = new AtomicInteger();

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
      return switch (method.getName()) {
        case "name" -> "fault";
        case "describeRequest" -> "a request";
        case "stopped" -> RequestFailures.stopped(recipient, arguments[0], new ExitReason.Finished(),
            RequestOutcome.UNKNOWN);
        case "onWithdrawn" -> withdrawals.incrementAndGet();
        case "runOffThread" -> startThread((Runnable) arguments[0]);
        default -> throw new UnsupportedOperationException(method.getName());
      };
    }

    private Thread startThread(Runnable code) {
      if (starts.incrementAndGet() == 1) throw new OutOfMemoryError("planned");
      return Patience.startFiber(code);
    }

    /** Fails the request as the end of an actor does, which tries again after an error. */
    void failQueued(RequestFuture<?> request) {
      try {
        request.failIfQueued();
      } catch (OutOfMemoryError planned) {}
    }
  }

  @Test
  void requestFailsOnceWhenItsWithdrawalRunsOutOfMemory() {
    var actor = new NoMemoryActor();
    var request = new RequestFuture<Object>(actor.recipient, "queued", null);
    var derived = request.thenApply(answer -> answer);

    actor.failQueued(request);
    actor.failQueued(request);

    assertInstanceOf(ActorStoppedException.class, Patience.failure(derived));
    assertEquals(1, actor.withdrawals.get());
    assertFalse(request.cancel(false));
  }
}
