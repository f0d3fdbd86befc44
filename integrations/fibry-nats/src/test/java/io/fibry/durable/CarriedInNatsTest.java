package io.fibry.durable;

class CarriedInNatsTest extends CarriedContract {
  CarriedInNatsTest() {
    super(InNats.maker());
  }
}
