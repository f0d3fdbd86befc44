package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.engine.message.RequestFuture;
import io.fibry.support.Patience;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PromisedRequestsTest {
  private record Call() implements Request<Call, Object> {}

  private final PromisedRequests promises = new PromisedRequests();

  private RequestFuture<?> promised(Object message) {
    var request = new RequestFuture<>(null, message, null, false);
    promises.add(request, message, ColdState.NO_CALLBACK);
    return request;
  }

  private List<RequestFuture<?>> requests() {
    var requests = new ArrayList<RequestFuture<?>>();
    for (var promise = promises.first(); promise != null; promise = promise.next) requests.add(promise.request);
    return requests;
  }

  @Test
  void promiseHasMessageAndCallback() {
    Runnable callback = () -> {};
    var request = new RequestFuture<>(null, "message", null, false);
    promises.add(request, "message", callback);

    var promise = promises.remove(request);

    assertEquals("message", promise.message);
    assertSame(callback, promise.onAbandoned);
    assertNull(promises.first());
  }

  @Test
  void requestIsRemovedOnce() {
    var request = promised("message");
    promises.remove(request);

    assertNull(promises.remove(request));
    assertNull(promises.remove(new RequestFuture<>(null, "other", null, false)));
  }

  @Test
  void removedRequestMayBePromisedAgain() {
    var request = promised("message");
    promised("other");
    promises.remove(request);

    promises.add(request, "message", ColdState.NO_CALLBACK);

    assertSame(request, requests().getLast());
    assertEquals(2, requests().size());
  }

  @Test
  void promisesKeepTheirOrderWhenOthersAreRemoved() {
    var random = new Random(7);
    var expected = new ArrayList<RequestFuture<?>>();
    for (int i = 0; i < 1_000; i++) {
      if (expected.isEmpty() || random.nextInt(5) < 3) expected.add(promised(i));
      else promises.remove(expected.remove(random.nextInt(expected.size())));
      assertEquals(expected, requests());
    }
  }

  /** A user may keep the failed answer to one request, which must not keep the other requests. */
  @Test
  void failedRequestOfEndedActorKeepsNoOtherRequest() {
    var actor = Variants.scope(o -> o).named("promiser")
        .newActor((Call call, ActorContext<Call> context) -> context.replyWhen(call, new CompletableFuture<>()));
    var answers = IntStream.range(0, 3).mapToObj(i -> (RequestFuture<?>) actor.sendMessageReturn(new Call())).toList();
    actor.sendPoisonPill();
    Patience.awaitEnd(actor::waitForExit);

    for (var answer : answers) {
      assertTrue(answer.isCompletedExceptionally());
      assertNull(answer.promise);
    }
  }
}
