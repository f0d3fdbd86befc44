package io.fibry.durable;

class InH2Test extends DurableContract {
  InH2Test() {
    super(InDatabases.h2());
  }
}
