package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which requests wait for a courier. */
class KeyDeliveryTest {
  private final KeyDelivery hand = new KeyDelivery();
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private final CompletableFuture<Void> second = new CompletableFuture<>();

  @Test
  void requestWaitsUntilCourierHasDelivered() {
    hand.beginReading();
    assertTrue(hand.holdRequest(first));
    assertEquals(List.of(), hand.takeReleased(true));

    hand.endReading();

    assertEquals(List.of(first), hand.takeReleased(true));
  }

  @Test
  void requestDoesNotOvertakeHeldRequest() {
    hand.beginReading();
    hand.holdRequest(first);
    hand.endReading();

    boolean held = hand.holdRequest(second);

    assertTrue(held);
    assertEquals(List.of(first, second), hand.takeReleased(true));
  }

  @Test
  void requestsPassAtOnceWhenHeldRequestsAreFreed() {
    hand.beginReading();
    hand.holdRequest(first);
    hand.endReading();
    hand.takeReleased(true);
    assertTrue(hand.holdRequest(second)); // the first request may be about to be sent
    assertEquals(List.of(second), hand.takeReleased(false));

    assertEquals(List.of(), hand.takeReleased(false));

    assertFalse(hand.holdRequest(new CompletableFuture<>()));
    assertTrue(hand.isIdle());
  }

  @Test
  void onlyOneThreadFreesRequests() {
    hand.beginReading();
    hand.holdRequest(first);
    hand.endReading();
    hand.takeReleased(true);
    hand.holdRequest(second);

    var ofAnother = hand.takeReleased(true);

    assertEquals(List.of(), ofAnother);
    assertEquals(List.of(second), hand.takeReleased(false));
  }

  @Test
  void endFollowsHeldRequests() {
    hand.beginReading();
    hand.holdRequest(first);

    var end = hand.holdEnd();

    hand.holdRequest(second);
    hand.endReading();
    assertFalse(end.isDone());
    assertEquals(List.of(first, end, second), hand.takeReleased(true));
  }

  @Test
  void endDoesNotWaitForRunningCourier() {
    hand.beginReading();

    assertTrue(hand.holdEnd().isDone());
  }
}
