package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StoreCopyInMemoryTest extends StoreCopyContract {
  StoreCopyInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** A folder refuses a turn of more than 16 MiB, and all these messages are larger. */
  @Test
  void pendingMessagesOfManyActorsAreCopiedInSeveralTurns() throws Exception {
    int receivers = 450; // fewer than the messages that one turn may send
    var text = "x".repeat(40_000);
    try (var ada = ada()) {
      for (int i = 0; i < receivers; i++) ada.sendMessage(new Desk.Pass("nobody" + i, text));
      ada.ask(new Desk.Items());
    }

    var copy = store.copyTo(another(FolderStores::new));

    assertEquals(receivers, copy.messages());
  }
}
