package io.fibry.durable;

class OutcomeInNatsTest extends OutcomeContract {
  OutcomeInNatsTest() {
    super(NatsStores.maker());
  }
}
