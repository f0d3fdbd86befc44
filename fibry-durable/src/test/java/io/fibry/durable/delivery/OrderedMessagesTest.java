package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoredMessage;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that {@link OrderedMessages} equals a map in insertion order, also with few messages. */
class OrderedMessagesTest {
  private static final int STEPS = 5_000;

  private OrderedMessages messages = OrderedMessages.NONE;
  private final LinkedHashMap<String, StoredMessage<Object>> map = new LinkedHashMap<>();

  private static StoredMessage<Object> message(String id, int number) {
    return new StoredMessage<>(id, Instant.EPOCH, number, Mail.of(new byte[0], ""), false, Optional.empty(), 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 9})
  void messagesEqualMapInInsertionOrder(int ids) {
    var random = new Random(ids);
    for (int step = 0; step < STEPS; step++) {
      String id = "m" + random.nextInt(ids);
      switch (random.nextInt(16)) {
        case 0 -> {
          assertEquals(List.copyOf(map.values()), messages.removeAll());
          map.clear();
        }
        case 1 -> {
          messages = OrderedMessages.NONE;
          map.clear();
        }
        case 2, 3, 4, 5 -> {
          messages.remove(id);
          if (random.nextBoolean()) messages = messages.orNone();
          map.remove(id);
        }
        case 6, 7 -> {
          if (!map.isEmpty()) assertEquals(map.pollFirstEntry().getValue(), messages.removeFirst());
        }
        default -> {
          messages = messages.with(message(id, step));
          map.put(id, message(id, step));
        }
      }
      assertEquals(map.get(id), messages.get(id));
      assertEquals(map.containsKey(id), messages.has(id));
      assertEquals(map.size(), messages.size());
      assertEquals(map.isEmpty(), messages.isEmpty());
      assertTrue(OrderedMessages.NONE.isEmpty());
    }
  }
}
