# files of this floor
