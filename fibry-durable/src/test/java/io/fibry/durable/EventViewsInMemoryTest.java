package io.fibry.durable;

class EventViewsInMemoryTest extends EventViewsContract {
  EventViewsInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
