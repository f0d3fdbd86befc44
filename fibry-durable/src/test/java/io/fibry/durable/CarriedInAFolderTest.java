package io.fibry.durable;

class CarriedInAFolderTest extends CarriedContract {
  CarriedInAFolderTest() {
    super(Folders::new);
  }
}
