package io.fibry.durable;

class OutboxAndOnceInH2Test extends OutboxAndOnceContract {
  OutboxAndOnceInH2Test() {
    super(DatabaseStores.h2());
  }
}
