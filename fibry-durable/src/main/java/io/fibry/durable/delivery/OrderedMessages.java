package io.fibry.durable.delivery;

import io.fibry.durable.storage.StoredMessage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages by id, in the order in which their ids were added. Most actors have at most one message
 * in delivery, which needs no map. Guarded by the monitor of its {@link PendingDelivery}.
 */
final class OrderedMessages {
  /** No messages. All actors share this object, which never changes. */
  static final OrderedMessages NONE = new OrderedMessages();

  private StoredMessage<Object> only; // null if there is no message, or if `byId` has the messages
  private Map<String, StoredMessage<Object>> byId; // null while there is at most one message

  private OrderedMessages() {}

  /**
   * Adds a message, or replaces the message with its id at that message's place. Returns this
   * object, or a new one if this object is {@link #NONE}.
   */
  OrderedMessages with(StoredMessage<Object> message) {
    var messages = this == NONE ? new OrderedMessages() : this;
    messages.put(message);
    return messages;
  }

  /** Returns {@link #NONE} if there is no message, else this object. */
  OrderedMessages orNone() {
    return isEmpty() ? NONE : this;
  }

  private void put(StoredMessage<Object> message) {
    if (byId == null && (only == null || only.id().equals(message.id()))) {
      only = message;
      return;
    }
    if (byId == null) {
      byId = new LinkedHashMap<>();
      byId.put(only.id(), only);
      only = null;
    }
    byId.put(message.id(), message);
  }

  /** Returns the message with the id, or null. */
  StoredMessage<Object> get(String id) {
    if (byId != null) return byId.get(id);
    return only != null && only.id().equals(id) ? only : null;
  }

  boolean has(String id) {
    return get(id) != null;
  }

  void remove(String id) {
    if (byId == null) {
      if (has(id)) only = null;
    } else {
      byId.remove(id);
      if (byId.isEmpty()) byId = null;
    }
  }

  /** Removes and returns the first message. There must be a message. */
  StoredMessage<Object> removeFirst() {
    var first = byId == null ? only : byId.values().iterator().next();
    remove(first.id());
    return first;
  }

  /** Removes and returns all messages. */
  List<StoredMessage<Object>> removeAll() {
    var all =
        byId != null ? List.copyOf(byId.values()) : only == null ? List.<StoredMessage<Object>>of() : List.of(only);
    clear();
    return all;
  }

  private void clear() {
    if (isEmpty()) return;
    only = null;
    byId = null;
  }

  boolean isEmpty() {
    return size() == 0;
  }

  int size() {
    return byId != null ? byId.size() : only == null ? 0 : 1;
  }
}
