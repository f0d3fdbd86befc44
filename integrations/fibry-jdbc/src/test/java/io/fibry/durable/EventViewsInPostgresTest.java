package io.fibry.durable;

class EventViewsInPostgresTest extends EventViewsContract {
  EventViewsInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
