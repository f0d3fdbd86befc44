package io.fibry.durable;

class InH2Test extends DurableContract {
  InH2Test() {
    super(DatabaseStores.h2());
  }
}
