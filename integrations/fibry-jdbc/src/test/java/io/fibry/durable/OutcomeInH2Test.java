package io.fibry.durable;

class OutcomeInH2Test extends OutcomeContract {
  OutcomeInH2Test() {
    super(DatabaseStores.h2());
  }
}
