package io.fibry.durable;

class CarriedInH2Test extends CarriedContract {
  CarriedInH2Test() {
    super(InDatabases.h2());
  }
}
