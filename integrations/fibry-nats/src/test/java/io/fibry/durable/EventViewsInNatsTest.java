package io.fibry.durable;

class EventViewsInNatsTest extends EventViewsContract {
  EventViewsInNatsTest() {
    super(NatsStores.maker());
  }
}
