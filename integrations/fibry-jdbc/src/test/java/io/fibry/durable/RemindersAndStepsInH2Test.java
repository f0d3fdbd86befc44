package io.fibry.durable;

class RemindersAndStepsInH2Test extends RemindersAndStepsContract {
  RemindersAndStepsInH2Test() {
    super(DatabaseStores.h2());
  }
}
