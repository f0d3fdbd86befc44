package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which requests wait for a courier. */
class HandTest {
  private final KeyDelivery hand = new KeyDelivery();
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private final CompletableFuture<Void> second = new CompletableFuture<>();

  @Test
  void requestWaitsUntilCourierHasDelivered() {
    hand.beginLooking();
    assertTrue(hand.hold(first));
    assertEquals(List.of(), hand.freed(true));

    hand.endLooking();

    assertEquals(List.of(first), hand.freed(true));
  }

  @Test
  void requestDoesNotOvertakeHeldRequest() {
    hand.beginLooking();
    hand.hold(first);
    hand.endLooking();

    boolean held = hand.hold(second);

    assertTrue(held);
    assertEquals(List.of(first, second), hand.freed(true));
  }

  @Test
  void requestsPassAtOnceWhenHeldRequestsAreFreed() {
    hand.beginLooking();
    hand.hold(first);
    hand.endLooking();
    hand.freed(true);
    assertTrue(hand.hold(second)); // the first request may be about to be sent
    assertEquals(List.of(second), hand.freed(false));

    assertEquals(List.of(), hand.freed(false));

    assertFalse(hand.hold(new CompletableFuture<>()));
    assertTrue(hand.isOfNoUse());
  }

  @Test
  void onlyOneThreadFreesRequests() {
    hand.beginLooking();
    hand.hold(first);
    hand.endLooking();
    hand.freed(true);
    hand.hold(second);

    var ofAnother = hand.freed(true);

    assertEquals(List.of(), ofAnother);
    assertEquals(List.of(second), hand.freed(false));
  }

  @Test
  void endFollowsHeldRequests() {
    hand.beginLooking();
    hand.hold(first);

    var end = hand.holdEnd();

    hand.hold(second);
    hand.endLooking();
    assertFalse(end.isDone());
    assertEquals(List.of(first, end, second), hand.freed(true));
  }

  @Test
  void endDoesNotWaitForRunningCourier() {
    hand.beginLooking();

    assertTrue(hand.holdEnd().isDone());
  }
}
