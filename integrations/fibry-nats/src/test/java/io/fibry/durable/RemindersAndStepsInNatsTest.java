package io.fibry.durable;

class RemindersAndStepsInNatsTest extends RemindersAndStepsContract {
  RemindersAndStepsInNatsTest() {
    super(NatsStores.maker());
  }
}
