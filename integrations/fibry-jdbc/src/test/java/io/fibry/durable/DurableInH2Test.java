package io.fibry.durable;

class DurableInH2Test extends DurableContract {
  DurableInH2Test() {
    super(DatabaseStores.h2());
  }
}
