package io.fibry.durable;

class RemindersAndStepsInFolderTest extends RemindersAndStepsContract {
  RemindersAndStepsInFolderTest() {
    super(Folders::new);
  }
}
