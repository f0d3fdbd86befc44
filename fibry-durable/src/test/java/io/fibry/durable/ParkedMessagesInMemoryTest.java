package io.fibry.durable;

class ParkedMessagesInMemoryTest extends ParkedMessagesContract {
  ParkedMessagesInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
