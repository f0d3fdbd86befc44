package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that a request waits until the courier has delivered earlier messages. */
class KeyDeliveryTest {
  private final KeyDelivery delivery = new KeyDelivery();
  private final CompletableFuture<Void> firstRequest = new CompletableFuture<>();
  private final CompletableFuture<Void> secondRequest = new CompletableFuture<>();

  @Test
  void requestWaitsUntilCourierHasReadPendingMessages() {
    delivery.beginReading();
    assertTrue(delivery.holdRequest(firstRequest));
    assertEquals(List.of(), delivery.takeReleased(true));

    delivery.endReading();

    assertEquals(List.of(firstRequest), delivery.takeReleased(true));
  }

  @Test
  void requestDoesNotOvertakeHeldRequest() {
    delivery.beginReading();
    delivery.holdRequest(firstRequest);
    delivery.endReading();

    boolean isHeld = delivery.holdRequest(secondRequest);

    assertTrue(isHeld);
    assertEquals(List.of(firstRequest, secondRequest), delivery.takeReleased(true));
  }

  @Test
  void requestIsHeldUntilEarlierReleasedRequestsAreSent() {
    delivery.beginReading();
    delivery.holdRequest(firstRequest);
    delivery.endReading();
    delivery.takeReleased(true);
    assertTrue(delivery.holdRequest(secondRequest)); // the first request may not have been sent yet
    assertEquals(List.of(secondRequest), delivery.takeReleased(false));

    assertEquals(List.of(), delivery.takeReleased(false));

    assertFalse(delivery.holdRequest(new CompletableFuture<>()));
    assertTrue(delivery.isIdle());
  }

  @Test
  void onlyOneThreadAtATimeReleasesRequests() {
    delivery.beginReading();
    delivery.holdRequest(firstRequest);
    delivery.endReading();
    delivery.takeReleased(true);
    delivery.holdRequest(secondRequest);

    var otherThreadsRequests = delivery.takeReleased(true);

    assertEquals(List.of(), otherThreadsRequests);
    assertEquals(List.of(secondRequest), delivery.takeReleased(false));
  }

  @Test
  void endOfActorIsReleasedAfterEarlierHeldRequests() {
    delivery.beginReading();
    delivery.holdRequest(firstRequest);

    var end = delivery.holdEnd();

    delivery.holdRequest(secondRequest);
    delivery.endReading();
    assertFalse(end.isDone());
    assertEquals(List.of(firstRequest, end, secondRequest), delivery.takeReleased(true));
  }

  @Test
  void endOfActorIsReleasedAtOnceWithoutHeldRequests() {
    delivery.beginReading();

    assertTrue(delivery.holdEnd().isDone());
  }
}
