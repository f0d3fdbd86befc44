package io.fibry.durable;

class EventViewsInH2Test extends EventViewsContract {
  EventViewsInH2Test() {
    super(DatabaseStores.h2());
  }
}
